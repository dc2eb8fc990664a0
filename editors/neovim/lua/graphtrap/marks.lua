-- How the marked lines look: a handler of Neovim's diagnostics, so that they come, go and move as all diagnostics do.
-- The initiating line has its answer above it, where a long line cannot hide it; what only fell with it is faded.

local config = require("graphtrap.config")

local M = {}

local space = vim.api.nvim_create_namespace("graphtrap")

for name, target in pairs({
  GraphTrapInitiator = "DiagnosticError",
  GraphTrapSuspect = "DiagnosticWarn",
  GraphTrapCollateral = "DiagnosticUnnecessary",
}) do
  vim.api.nvim_set_hl(0, name, { link = target, default = true })
end

--- Whether the server says of a line that it only followed from another.
---@param diagnostic vim.Diagnostic
---@return boolean
function M.is_collateral(diagnostic)
  local tags = vim.tbl_get(diagnostic, "user_data", "lsp", "tags") or {}
  return vim.tbl_contains(tags, vim.lsp.protocol.DiagnosticTag.Unnecessary)
end

--- Breaks a message at its words.
---@param text string
---@param width integer
---@return string[]
local function wrapped(text, width)
  local lines, line = {}, ""
  for word in text:gmatch("%S+") do
    if line ~= "" and vim.fn.strdisplaywidth(line .. " " .. word) > width then
      lines[#lines + 1], line = line, word
    else
      line = line == "" and word or line .. " " .. word
    end
  end
  lines[#lines + 1] = line
  return lines
end

---@param buf integer
---@param diagnostic vim.Diagnostic
local function mark(buf, diagnostic)
  local user, collateral = config.get(), M.is_collateral(diagnostic)
  local group = collateral and "GraphTrapCollateral"
    or diagnostic.severity == vim.diagnostic.severity.ERROR and "GraphTrapInitiator"
    or "GraphTrapSuspect"
  local options = { priority = collateral and 10 or 20 }
  if user.signs then
    options.sign_text, options.sign_hl_group = collateral and user.sign_collateral or user.sign_initiator, group
  end
  if user.virtual_text and collateral then
    options.virt_text = { { "  " .. diagnostic.message:gsub("\n", " "), group } }
  elseif user.virtual_text then
    local window = vim.fn.bufwinid(buf)
    local width = (window ~= -1 and vim.api.nvim_win_get_width(window) or vim.o.columns) - 8
    options.virt_lines = vim.tbl_map(function(line)
      return { { line, group } }
    end, wrapped(diagnostic.message, math.max(width, 20)))
    options.virt_lines_above = diagnostic.lnum > 0 -- nothing can be seen above the first line
  end
  vim.api.nvim_buf_set_extmark(buf, space, diagnostic.lnum, 0, options)
end

vim.diagnostic.handlers.graphtrap = {
  show = function(_, buf, diagnostics)
    local last = vim.api.nvim_buf_line_count(buf) - 1
    for _, diagnostic in ipairs(diagnostics) do
      if diagnostic.lnum <= last then
        mark(buf, diagnostic)
      end
    end
  end,
  hide = function(_, buf)
    if vim.api.nvim_buf_is_valid(buf) then
      vim.api.nvim_buf_clear_namespace(buf, space, 0, -1)
    end
  end,
}

--- Lets this module show the server's diagnostics, in place of Neovim's own signs and texts.
---@param namespace integer of the diagnostics
function M.take_over(namespace)
  local user = config.get()
  local options = { graphtrap = user.signs or user.virtual_text }
  if user.signs then
    options.signs = false
  end
  if user.virtual_text then
    options.virtual_text, options.virtual_lines = false, false
  end
  vim.diagnostic.config(options, namespace)
end

--- The marked lines of a buffer, from the first to the last.
---@param buf integer
---@return vim.Diagnostic[]
function M.list(buf)
  local client = require("graphtrap.client").current()
  local found = client and vim.diagnostic.get(buf, { namespace = require("graphtrap.client").namespace(client) }) or {}
  table.sort(found, function(a, b)
    return a.lnum < b.lnum or a.lnum == b.lnum and a.col < b.col
  end)
  return found
end

--- Shows or hides the marks of a buffer. Returns whether they are shown now.
---@param buf integer
---@return boolean
function M.toggle(buf)
  local client = require("graphtrap.client").current()
  if not client then
    return false
  end
  local filter = { bufnr = buf, ns_id = require("graphtrap.client").namespace(client) }
  local shown = not vim.diagnostic.is_enabled(filter)
  vim.diagnostic.enable(shown, filter)
  return shown
end

return M
