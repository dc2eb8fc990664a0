-- Markdown to read: in a floating window, or in a split where the command was given with :vertical, :tab and the like.

local config = require("graphtrap.config")

local M = {}

local space = vim.api.nvim_create_namespace("graphtrap-page")

---@class graphtrap.Link
---@field row integer from 0
---@field first integer column, from 0
---@field last integer the column after it
---@field uri string
---@field line integer from 1

--- Takes the addresses out of the links: Neovim breaks lines where they would end with the addresses shown.
---@param lines string[] changed in place
---@return graphtrap.Link[]
local function take_links(lines)
  local links = {}
  for row, line in ipairs(lines) do
    local plain, from = "", 1
    while true do
      local first, last, name, uri, number = line:find("%[([^%]]*)%]%(([^)%s]-)#L(%d+)[^)]*%)", from)
      if not first then
        break
      end
      plain = plain .. line:sub(from, first - 1)
      table.insert(links, { row = row - 1, first = #plain, last = #plain + #name, uri = uri, line = tonumber(number) })
      plain, from = plain .. name, last + 1
    end
    lines[row] = plain .. line:sub(from)
  end
  return links
end

--- Underlines the links, and hides the backslashes of Markdown outside of code.
---@param buf integer
---@param lines string[]
---@param links graphtrap.Link[]
local function decorate(buf, lines, links)
  for _, link in ipairs(links) do
    vim.api.nvim_buf_set_extmark(buf, space, link.row, link.first, { end_col = link.last, hl_group = "Underlined" })
  end
  local code = false
  for row, line in ipairs(lines) do
    if vim.startswith(line, "```") then
      code = not code
    elseif not code then
      for column in line:gmatch("()\\%p") do
        vim.api.nvim_buf_set_extmark(buf, space, row - 1, column - 1, { end_col = column, conceal = "" })
      end
    end
  end
end

--- The link under the cursor, else the first one of the line.
---@param links graphtrap.Link[]
---@return graphtrap.Link?
local function link_at_cursor(links)
  local row, column = unpack(vim.api.nvim_win_get_cursor(0))
  local found
  for _, link in ipairs(links) do
    if link.row == row - 1 and (not found or link.first <= column and column < link.last) then
      found = link
    end
  end
  return found
end

--- Goes to what a link names, in the window from which the page was opened.
---@param window integer
---@param links graphtrap.Link[]
local function follow(window, links)
  local link = link_at_cursor(links)
  if not link then
    return
  end
  local page = vim.api.nvim_get_current_win()
  local buf = vim.uri_to_bufnr(link.uri)
  if not vim.api.nvim_win_is_valid(window) then
    vim.cmd.split()
    window = vim.api.nvim_get_current_win()
  end
  if vim.api.nvim_win_get_config(page).relative ~= "" then
    vim.api.nvim_win_close(page, true)
  end
  M.go(window, buf, link.line, 0)
end

--- Shows a place in a window. What was there is in the jump list.
---@param window integer
---@param buf integer
---@param line integer from 1
---@param column integer from 0
function M.go(window, buf, line, column)
  vim.api.nvim_set_current_win(window)
  vim.cmd.normal({ "m'", bang = true })
  vim.bo[buf].buflisted = true
  vim.api.nvim_win_set_buf(window, buf)
  vim.api.nvim_win_set_cursor(window, { math.min(line, vim.api.nvim_buf_line_count(buf)), column })
  vim.cmd.normal({ "zvzz", bang = true })
end

---@param lines string[]
---@return integer
local function make(lines)
  local buf = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].bufhidden, vim.bo[buf].modifiable, vim.bo[buf].filetype = "wipe", false, "markdown"
  pcall(vim.treesitter.start, buf, "markdown") -- nicer, where the parser is there
  return buf
end

---@param buf integer
---@param lines string[]
---@param title string
---@return integer window
local function float(buf, lines, title)
  local width = math.min(80, vim.o.columns - 4)
  local height = 0
  for _, line in ipairs(lines) do
    height = height + math.max(1, math.ceil(vim.fn.strdisplaywidth(line) / width))
  end
  height = math.max(1, math.min(height, 30, vim.o.lines - 4))
  return vim.api.nvim_open_win(buf, true, {
    relative = "editor",
    row = math.floor((vim.o.lines - height) / 2) - 1,
    col = math.floor((vim.o.columns - width) / 2),
    width = width,
    height = height,
    border = config.get().border,
    title = " " .. title .. " ",
    title_pos = "center",
  })
end

--- Shows a page.
---@param markdown string
---@param options { title: string, log: integer?, mods: table? } log: the buffer that it is about
function M.show(markdown, options)
  local from = vim.api.nvim_get_current_win()
  if vim.api.nvim_win_get_config(from).relative ~= "" and vim.b.graphtrap_page then -- a page opened from a page
    local own = from
    from = vim.b.graphtrap_page
    vim.api.nvim_win_close(own, true)
  end
  local lines = vim.split(vim.trim(markdown), "\n")
  local links = take_links(lines)
  local buf = make(lines)
  decorate(buf, lines, links)
  vim.b[buf].graphtrap_page, vim.b[buf].graphtrap_log = from, options.log
  local mods = options.mods or {}
  if mods.vertical or mods.horizontal or (mods.tab or -1) >= 0 or (mods.split or "") ~= "" then
    vim.cmd({ cmd = "sbuffer", args = { buf }, mods = mods })
  else
    float(buf, lines, options.title)
  end
  vim.wo.wrap, vim.wo.linebreak, vim.wo.conceallevel, vim.wo.concealcursor = true, true, 2, "n"
  vim.wo.number, vim.wo.relativenumber, vim.wo.signcolumn, vim.wo.spell = false, false, "no", false
  local map = function(key, desc, call)
    vim.keymap.set("n", key, call, { buffer = buf, nowait = true, desc = desc })
  end
  map("q", "close the report", "<Cmd>close<CR>")
  map("<Esc>", "close the report", "<Cmd>close<CR>")
  map("<CR>", "go to the line that is named", function()
    follow(from, links)
  end)
end

return M
