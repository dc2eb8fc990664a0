-- The server has the source edited; here the user is shown what was changed, and when that is safe.

local client = require("graphtrap.client")
local incident = require("graphtrap.incident")

local M = {}

--- The files and places of the edit in progress.
---@type { uri: string, line: integer }[]
local edited = {}

--- Neovim's own handler, which makes the edit; what it touches is remembered.
function M.on_apply(err, params, context)
  for _, change in ipairs(params.edit.documentChanges or {}) do
    if change.textDocument and change.edits[1] then
      table.insert(edited, { uri = change.textDocument.uri, line = change.edits[1].range.start.line + 1 })
    end
  end
  params.label = nil -- which it would print, beside what is said below
  return vim.lsp.handlers["workspace/applyEdit"](err, params, context)
end

local space = vim.api.nvim_create_namespace("graphtrap-fix")

--- Says above the edit when it is safe, until the source is written.
---@param buf integer
---@param line integer from 1
---@param text string
local function say_above(buf, line, text)
  vim.api.nvim_buf_clear_namespace(buf, space, 0, -1)
  vim.api.nvim_buf_set_extmark(buf, space, line - 1, 0, {
    virt_lines = { { { text, "GraphTrapSuspect" } } },
    virt_lines_above = true,
  })
  vim.api.nvim_create_autocmd("BufWritePost", {
    buffer = buf,
    once = true,
    callback = function()
      vim.api.nvim_buf_clear_namespace(buf, space, 0, -1)
    end,
  })
end

--- Applies the fix to the source that the traceback of the current log names, and shows it. Nothing is written.
function M.apply()
  local buf = incident.buffer()
  if not require("graphtrap.attach").is_attached(buf) then
    return vim.notify("graphtrap: this buffer is no log that is diagnosed; :GraphTrap initiator opens it", vim.log.levels.ERROR)
  end
  edited = {}
  client.execute("graphtrap.fix", { uri = vim.uri_from_bufnr(buf) }, buf, function(result)
    if type(result) ~= "table" or not result.applied or not edited[1] then
      return vim.notify("graphtrap: the edit was not made: " .. tostring(result and result.failureReason), vim.log.levels.ERROR)
    end
    local source = vim.uri_to_bufnr(edited[1].uri)
    local window = vim.fn.bufwinid(source)
    if window == -1 then
      if vim.api.nvim_win_get_config(0).relative ~= "" then
        vim.cmd.close()
      end
      vim.cmd.split()
      window = vim.api.nvim_get_current_win()
    end
    require("graphtrap.page").go(window, source, edited[1].line, 0)
    local name = vim.fn.fnamemodify(vim.api.nvim_buf_get_name(source), ":~:.")
    vim.api.nvim_echo({ { name .. " is changed and not written; u takes it back" } }, true, {})
    incident.here(function(answer)
      local fix = answer.report.verdict.fixes[1]
      if fix then
        say_above(source, edited[1].line, fix.precondition)
      end
    end, buf)
  end)
end

return M
