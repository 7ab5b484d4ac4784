// Starts `gradmend lsp` for Python documents, and shows what it publishes.
import { commands, window, workspace } from "vscode";
import { LanguageClient, TransportKind } from "vscode-languageclient/node";

const RUN = "gradmend.run"; // a command of the server's own
let client;

/** Called by the editor when the first Python document is opened. */
export async function activate(context) {
  context.subscriptions.push(
    commands.registerCommand("gradmend.runActive", runActive),
    commands.registerCommand("gradmend.restart", restart),
    workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration("gradmend")) restart();
    }),
  );
  await start();
}

/** Called when the editor closes. */
export function deactivate() {
  return client?.stop();
}

async function start() {
  const command = workspace.getConfiguration("gradmend").get("command", "gradmend");
  const server = { command, args: ["lsp"], transport: TransportKind.stdio };
  client = new LanguageClient("gradmend", "Gradmend", server, {
    documentSelector: [{ scheme: "file", language: "python" }],
  });
  try {
    await client.start();
  } catch (error) {
    window.showErrorMessage(
      `Gradmend: ${command} does not start (${error.message ?? error}). ` +
        "Install it with: pip install 'gradmend[lsp]'",
    );
  }
}

async function restart() {
  await client?.stop();
  await start();
}

function runActive() {
  const document = window.activeTextEditor?.document;
  if (document) return commands.executeCommand(RUN, document.uri.toString());
}
