// Markdown of the server as a page beside the editor, rendered as every Markdown preview is.
import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';

const opens = 'open:';

/** A command of ours that the page offers. It is called with {@link shown}. */
export interface Action {
  readonly command: string;
  readonly label: string;
}

/** The argument of a command that is about what a page shows, and not about the active editor. */
export const shown = 'shown';

/** One tab, made when it is first needed and then used again. */
export class Page implements vscode.Disposable {
  private panel: vscode.WebviewPanel | undefined;

  /** `follow` opens what a link names. */
  constructor(
    private readonly viewType: string,
    private readonly follow: (href: string) => Promise<void>,
  ) {}

  get title(): string | undefined {
    return this.panel?.title;
  }

  get html(): string | undefined {
    return this.panel?.webview.html;
  }

  async show(title: string, markdown: string, actions: readonly Action[] = []): Promise<void> {
    // The renderer makes no links of file: URIs.
    const renderable = markdown.replace(/\]\(file:/g, `](${opens}file:`);
    const body = await vscode.commands.executeCommand<string>('markdown.api.render', renderable);
    this.panel ??= this.create();
    this.panel.title = title;
    this.panel.webview.options = { enableScripts: true, localResourceRoots: [], enableCommandUris: actions.map(({ command }) => command) };
    this.panel.webview.html = html(body, actions);
    this.panel.reveal(undefined, true);
  }

  /** Opens what a link of the page names. */
  open(href: string): Promise<void> {
    return this.follow(href.startsWith(opens) ? href.slice(opens.length) : href);
  }

  dispose(): void {
    this.panel?.dispose();
  }

  private create(): vscode.WebviewPanel {
    const panel = vscode.window.createWebviewPanel(
      this.viewType,
      'Graphtrap',
      { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true },
      { enableFindWidget: true },
    );
    panel.webview.onDidReceiveMessage((href: unknown) => this.open(String(href)));
    panel.onDidDispose(() => (this.panel = undefined));
    return panel;
  }
}

function html(body: string, actions: readonly Action[]): string {
  const nonce = randomBytes(16).toString('hex');
  const argument = encodeURIComponent(JSON.stringify(shown));
  const row = actions.map(({ command, label }) => `<a href="command:${command}?${argument}">${label}</a>`).join(' &nbsp;|&nbsp; ');
  return `<!DOCTYPE html>
<html>
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'nonce-${nonce}'; script-src 'nonce-${nonce}'">
<style nonce="${nonce}">
body { padding: 0 24px 24px; line-height: 1.5; }
h1 { font-size: 1.5em; }
h2 { font-size: 1.15em; }
a { color: var(--vscode-textLink-foreground); }
pre { padding: 8px 12px; white-space: pre-wrap; background: var(--vscode-textCodeBlock-background); }
code { font-family: var(--vscode-editor-font-family); font-size: var(--vscode-editor-font-size); }
table { border-collapse: collapse; }
th, td { padding: 3px 10px; border: 1px solid var(--vscode-widget-border, #8884); text-align: left; }
</style>
</head>
<body>
${row && `<p>${row}</p>`}
${body}
<script nonce="${nonce}">
const vscode = acquireVsCodeApi();
addEventListener('click', (event) => {
  const href = event.target.closest('a')?.dataset.href;
  if (href && !href.startsWith('command:')) {
    event.preventDefault();
    vscode.postMessage(href);
  }
});
</script>
</body>
</html>`;
}
