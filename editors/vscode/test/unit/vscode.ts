// The little of VS Code that modules without an editor import. What it really does is tested in VS Code itself.
export const l10n = {
  t: (message: string, ...args: unknown[]): string => message.replace(/\{(\d+)\}/g, (_, index) => String(args[Number(index)])),
};
