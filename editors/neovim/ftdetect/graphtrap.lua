-- Names that jobs give their logs. `setfiletype` changes nothing where another rule has named the type already.
vim.api.nvim_create_autocmd({ "BufRead", "BufNewFile" }, {
  pattern = { "*.log", "*.out", "*.err" },
  command = "setfiletype log",
})
