-- What Neovim loads at start: names only. The modules are loaded when a log is opened or the command is used.

if vim.g.loaded_graphtrap then
  return
end
vim.g.loaded_graphtrap = true

if vim.fn.has("nvim-0.10") == 0 then
  vim.notify("graphtrap: needs Neovim 0.10 or newer", vim.log.levels.ERROR)
  return
end

vim.api.nvim_create_user_command("GraphTrap", function(given)
  require("graphtrap.command").run(given)
end, {
  nargs = "*",
  range = true,
  bang = true,
  desc = "Who started the failure of a job, and what to do",
  complete = function(lead, line)
    return require("graphtrap.command").complete(lead, line)
  end,
})

vim.api.nvim_create_autocmd({ "BufReadPost", "BufNewFile", "BufFilePost", "FileType" }, {
  group = vim.api.nvim_create_augroup("graphtrap", {}),
  desc = "graphtrap: attach to logs",
  callback = function(event)
    require("graphtrap.attach").automatic(event.buf)
  end,
})
