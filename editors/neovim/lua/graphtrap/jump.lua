-- From mark to mark.

local incident = require("graphtrap.incident")
local lists = require("graphtrap.lists")
local marks = require("graphtrap.marks")
local page = require("graphtrap.page")

local M = {}

--- The window to show a buffer in: its own, else the current one, unless that floats.
---@param buf integer
---@return integer
local function window_of(buf)
  local window = vim.fn.bufwinid(buf)
  if window ~= -1 then
    return window
  end
  if vim.api.nvim_win_get_config(0).relative ~= "" then
    vim.cmd.close()
  end
  return vim.api.nvim_get_current_win()
end

---@param message string
local function tell(message)
  local line = message:gsub("%s+", " ")
  local room = vim.o.columns - 12 -- a longer message would ask for Enter
  if vim.fn.strdisplaywidth(line) > room then
    line = vim.fn.strcharpart(line, 0, room - 3) .. "..."
  end
  vim.api.nvim_echo({ { line } }, false, {})
end

--- Goes to the line that states who started it.
function M.initiator()
  incident.here(function(answer)
    local first = lists.entries(answer)[1]
    if not first or first.type == "I" or first.type == "N" then
      return tell(answer.report.verdict.title)
    end
    local buf = first.bufnr or vim.fn.bufadd(first.filename)
    vim.fn.bufload(buf)
    page.go(window_of(buf), buf, first.lnum, math.max((first.col or 1) - 1, 0))
    tell(first.text)
  end)
end

--- Goes to the next marked line, after the last one to the first.
function M.next()
  local buf = incident.buffer()
  local all = marks.list(buf)
  if #all == 0 then
    return vim.notify("graphtrap: no line is marked", vim.log.levels.WARN)
  end
  local window = window_of(buf)
  local line = vim.fn.getcurpos(window)[2]
  local target = all[1]
  for _, diagnostic in ipairs(all) do
    if diagnostic.lnum + 1 > line then
      target = diagnostic
      break
    end
  end
  page.go(window, buf, target.lnum + 1, target.col)
  tell(target.message)
end

return M
