-- The text for the statusline: how far an analysis is, else the marked line that is not collateral.

local client = require("graphtrap.client")
local marks = require("graphtrap.marks")

local M = {}

--- What the server says of its work, by token.
---@type table<string|integer, string>
local progress = {}

vim.api.nvim_create_autocmd("LspProgress", {
  group = vim.api.nvim_create_augroup("graphtrap-progress", {}),
  callback = function(event)
    local of = vim.lsp.get_client_by_id(event.data.client_id)
    local params = event.data.params or event.data.result
    if not of or of.name ~= "graphtrap" or not params then
      return
    end
    local value = params.value
    if value.kind == "end" then
      progress[params.token] = nil
    else
      local title = value.title or progress[params.token] or ""
      progress[params.token] = title:gsub(" %d+%%$", "") .. (value.percentage and (" %d%%"):format(value.percentage) or "")
    end
    vim.cmd.redrawstatus()
  end,
})

---@param buf integer
---@return string
function M.text(buf)
  local _, busy = next(progress)
  if busy then
    return busy
  end
  if not client.current() then
    return ""
  end
  for _, diagnostic in ipairs(marks.list(buf)) do
    if not marks.is_collateral(diagnostic) then
      return (diagnostic.message:match("^[^;]*"))
    end
  end
  return ""
end

return M
