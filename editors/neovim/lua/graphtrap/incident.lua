-- The answers that were given, and which of them a command is about.

local client = require("graphtrap.client")
local attach = require("graphtrap.attach")

local M = {}

---@class graphtrap.Answer
---@field report table what the server found, see `graphtrap diagnose --format json`
---@field rendered string the same in Markdown
---@field buf integer? whose lines it names; none for files and folders on disk
---@field files table<string, true> the files that were read, where they are on disk

--- The answer given last.
---@type graphtrap.Answer?
M.last = nil

--- The buffer that a command is about: of a report its log, of a terminal the copy that was diagnosed.
---@return integer
function M.buffer()
  local buf = vim.api.nvim_get_current_buf()
  local log = vim.b[buf].graphtrap_log
  if log and vim.api.nvim_buf_is_valid(log) then
    return log
  end
  local copy = vim.fn.bufnr(("^graphtrap://%s/%d$"):format(vim.bo[buf].buftype == "terminal" and "terminal" or "buffer", buf))
  return copy ~= -1 and copy or buf
end

--- Has the server diagnose something, and keeps the answer. `done` is called with it.
---@param source graphtrap.Source
---@param done fun(answer: graphtrap.Answer)
function M.diagnose(source, done)
  local argument = vim.tbl_extend("force", source.argument, { format = "markdown" })
  client.execute("graphtrap.diagnose", argument, source.buf, function(result)
    local files = {}
    for _, file in ipairs(source.buf and {} or result.report.input.files) do
      files[file.path] = true
    end
    M.last = { report = result.report, rendered = result.rendered, buf = source.buf, files = files }
    done(M.last)
  end)
end

--- Calls `done` with the answer for the current buffer as it is now. The server keeps its analysis, so asking is cheap.
--- What it does not know of has the answer that was given last, and so has one file of a folder that was diagnosed: the
--- whole knows more.
---@param done fun(answer: graphtrap.Answer)
---@param buf? integer another buffer than the current one
function M.here(done, buf)
  buf = buf or M.buffer()
  if M.last and M.last.files[vim.api.nvim_buf_get_name(buf)] then
    done(M.last)
  elseif attach.is_attached(buf) then
    M.diagnose({ argument = { uri = vim.uri_from_bufnr(buf) }, buf = buf }, done)
  elseif M.last then
    done(M.last)
  else
    vim.notify("graphtrap: nothing is diagnosed yet: :GraphTrap diagnose", vim.log.levels.ERROR)
  end
end

return M
