-- Copies of text that is no file: of terminals, lists, and buffers without a name. The server's marks need lines that
-- stay, and a terminal's own address does not survive the protocol.

local M = {}

--- Shows a copy in a window of its own, and returns its buffer. The same source gets the same buffer again.
---@param kind "terminal"|"quickfix"|"buffer"
---@param number integer which terminal, list or buffer it is
---@param lines string[]
---@return integer buf
function M.show(kind, number, lines)
  local name = ("graphtrap://%s/%d"):format(kind, number)
  local buf = vim.fn.bufnr("^" .. name .. "$")
  if buf == -1 then
    buf = vim.api.nvim_create_buf(true, false)
    vim.api.nvim_buf_set_name(buf, name)
    vim.bo[buf].buftype, vim.bo[buf].swapfile, vim.bo[buf].undolevels = "nofile", false, -1
  end
  vim.bo[buf].modifiable = true
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].modifiable, vim.bo[buf].modified = false, false
  local window = vim.fn.bufwinid(buf)
  if window == -1 then
    vim.cmd.split()
    vim.api.nvim_win_set_buf(0, buf)
    if vim.bo[buf].filetype == "" then
      vim.bo[buf].filetype = "log"
    end
  else
    vim.api.nvim_set_current_win(window)
  end
  return buf
end

return M
