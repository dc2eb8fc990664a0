-- Which buffers the server is told of.

local client = require("graphtrap.client")
local config = require("graphtrap.config")

local M = {}

--- The folder that the server takes as the file's workspace.
---@param buf integer
---@return string
local function root(buf)
  local file = vim.api.nvim_buf_get_name(buf)
  return vim.fs.root(buf, config.get().root_markers) or vim.fs.dirname(file)
end

--- A file that people name as logs are named, or that has the filetype.
---@param buf integer
---@return boolean
local function is_log(buf)
  if vim.bo[buf].filetype == "log" then
    return true
  end
  local file = vim.api.nvim_buf_get_name(buf)
  for _, pattern in ipairs(config.get().patterns) do
    local anchored = pattern:find("/") and file or vim.fs.basename(file)
    if vim.fn.match(anchored, vim.fn.glob2regpat(pattern)) >= 0 then
      return true
    end
  end
  return false
end

--- A buffer of a file. What has no name cannot be told from another, and terminals and lists change under the server's
--- feet: their text is copied when it is asked about, see scratch.lua.
---@param buf integer
---@return boolean
function M.is_file(buf)
  return vim.api.nvim_buf_is_loaded(buf) and vim.bo[buf].buftype == "" and vim.api.nvim_buf_get_name(buf) ~= ""
end

---@param buf integer
---@return boolean
local function is_small(buf)
  return vim.api.nvim_buf_get_offset(buf, vim.api.nvim_buf_line_count(buf)) <= config.get().max_bytes
end

---@param buf integer
---@return boolean
function M.is_attached(buf)
  return #vim.lsp.get_clients({ name = "graphtrap", bufnr = buf, _uninitialized = true }) > 0
end

--- Attaches to a log that was opened, and to a Python source once there is a server. A source alone starts none.
---@param buf integer
function M.automatic(buf)
  if not config.get().autostart or not M.is_file(buf) then
    return
  end
  -- First what costs nothing: this runs for every file that is opened.
  local wanted = is_log(buf) or vim.bo[buf].filetype == "python" and client.current() ~= nil
  if not wanted or not is_small(buf) or M.is_attached(buf) then
    return
  end
  local started, trouble = client.start(buf, root(buf))
  if not started then
    vim.notify_once("graphtrap: " .. trouble, vim.log.levels.WARN)
  end
end

--- Attaches because the user asked. Returns false, and tells why, if that cannot be.
---@param buf integer
---@return boolean
function M.asked(buf)
  if M.is_attached(buf) then
    return true
  end
  local started, trouble = client.start(buf, root(buf))
  if not started then
    vim.notify("graphtrap: " .. trouble, vim.log.levels.ERROR)
  end
  return started ~= nil
end

--- Whether a file is too large to be sent, and as it is on disk: then the server reads it there.
---@param buf integer
---@return boolean
function M.is_read_from_disk(buf)
  return not M.is_attached(buf) and not is_small(buf) and not vim.bo[buf].modified
end

--- Attaches to the Python sources that were open before the server started.
---@param ready vim.lsp.Client
function M.sources(ready)
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    if M.is_file(buf) and vim.bo[buf].filetype == "python" and not M.is_attached(buf) then
      vim.lsp.buf_attach_client(buf, ready.id)
    end
  end
end

return M
