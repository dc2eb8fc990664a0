-- What `:GraphTrap diagnose` reads: text of this Neovim, or a place on disk.

local attach = require("graphtrap.attach")
local scratch = require("graphtrap.scratch")

local M = {}

---@class graphtrap.Source
---@field argument table for the server's command
---@field buf integer? the buffer whose lines the answer names

---@param buf integer
---@param first integer? from 1
---@param last integer?
---@return graphtrap.Source?
local function attached(buf, first, last)
  if not attach.asked(buf) then
    return nil
  end
  local argument = { uri = vim.uri_from_bufnr(buf) }
  if first and last then
    argument.range = { start = { line = first - 1, character = 0 }, ["end"] = { line = last, character = 0 } }
  end
  return { argument = argument, buf = buf }
end

--- A file or folder on disk, of any size.
---@param path string
---@return graphtrap.Source
function M.path(path)
  return { argument = { path = (vim.fn.fnamemodify(vim.fn.expand(path), ":p"):gsub("(.)/$", "%1")) } }
end

--- The quickfix list, or the location list of the window: what `:make` or a job printed.
---@param location boolean
---@return graphtrap.Source?
function M.quickfix(location)
  local list = location and vim.fn.getloclist(0, { id = 0, items = 0 }) or vim.fn.getqflist({ id = 0, items = 0 })
  if #list.items == 0 then
    vim.notify("graphtrap: the list is empty", vim.log.levels.ERROR)
    return nil
  end
  local lines = {}
  for _, item in ipairs(list.items) do
    local at = ""
    if item.bufnr > 0 then -- a line that was taken apart, put together again
      at = ("%s:%d:%s"):format(vim.fn.fnamemodify(vim.fn.bufname(item.bufnr), ":."), item.lnum, item.col > 0 and item.col .. ":" or "")
    end
    vim.list_extend(lines, vim.split(at .. item.text, "\n"))
  end
  return attached(scratch.show("quickfix", list.id, lines))
end

--- The current buffer, or some lines of it.
---@param first integer?
---@param last integer?
---@return graphtrap.Source?
function M.buffer(first, last)
  local buf = vim.api.nvim_get_current_buf()
  if vim.bo[buf].buftype == "quickfix" and not first then
    return M.quickfix(vim.fn.getwininfo(vim.api.nvim_get_current_win())[1].loclist == 1)
  end
  if attach.is_attached(buf) then
    return attached(buf, first, last)
  end
  if attach.is_file(buf) then
    if not first and attach.is_read_from_disk(buf) then
      return M.path(vim.api.nvim_buf_get_name(buf))
    end
    return attached(buf, first, last)
  end
  local lines = vim.api.nvim_buf_get_lines(buf, first and first - 1 or 0, last or -1, false)
  while #lines > 1 and lines[#lines] == "" do -- the rows of a terminal below its text
    table.remove(lines)
  end
  return attached(scratch.show(vim.bo[buf].buftype == "terminal" and "terminal" or "buffer", buf, lines))
end

return M
