import { operations } from './operations.ts';
import { PROBLEM_TYPES, type ProblemName, type ProblemType, typeReference } from './problem-types.ts';

/** The page that the `type` of a problem refers to. */
interface ProblemPage {
  /** `/problems/NAME`. */
  readonly path: string;
  readonly html: string;
}

/** One page for each type of problem. Its style sheet is `web/public/problems.css`, for the page allows no inline styles. */
export const problemPages = (): ProblemPage[] =>
  Object.entries(PROBLEM_TYPES).map(([name, type]) => ({
    path: typeReference(name as ProblemName),
    html: renderPage(type),
  }));

const renderPage = ({ status, heading, meaning, help, operators }: ProblemType): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${heading} – Reelay</title>
<link rel="icon" href="../icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="../problems.css">
</head>
<body>
<main>
<h1>${heading}</h1>
<p>${toHtml(meaning)}</p>
<h2>What to do</h2>
<p>${toHtml(help)}</p>
${operators ? `<h2>For operators</h2>\n<p>${toHtml(operators)}</p>\n` : ''}<p><small>Status ${status}. <a href="../">Back to Reelay</a></small></p>
</main>
</body>
</html>
`;

/** The texts of the table contain code in backticks and no markup. */
const toHtml = (text: string): string => text.replace(/`([^`]+)`/g, '<code>$1</code>');

/** Where a contact for vulnerabilities is expected (RFC 9116). */
export const SECURITY_TEXT_PATH = '/.well-known/security.txt';

/** RFC 9116 recommends less than a year. */
export const SECURITY_TEXT_VALID_MS = 180 * 24 * 3_600_000;

/** The document at that path up to the time when it expires, which follows. @param contacts URIs, the preferred first */
export const contactLines = (contacts: readonly string[]): string =>
  `${contacts.map((uri) => `Contact: ${uri}\n`).join('')}Expires: `;

/** The document at that path (RFC 9116 §2). @param contacts URIs of `SECURITY_CONTACT` */
export const securityText = (contacts: readonly string[], nowMs = Date.now()): string =>
  `${contactLines(contacts)}${new Date(nowMs + SECURITY_TEXT_VALID_MS).toISOString()}\n`;

const endpoints = (): string[][] =>
  operations.map(({ path, methods, summary }) => [`\`${path}\``, methods.join(', '), summary]);

/** A row for each description of a parameter, with the operations that have it. */
function parameters(): string[][] {
  const rows = new Map<string, { name: string; description: string; ids: string[] }>();
  for (const { operationId, parameters } of operations)
    for (const { name, in: place, description } of parameters) {
      if (place === 'path') continue;
      const row = rows.get(name + description) ?? { name, description, ids: [] };
      row.ids.push(operationId);
      rows.set(name + description, row);
    }
  const names = [...new Set([...rows.values()].map(({ name }) => name))];
  return [...rows.values()]
    .sort((a, b) => names.indexOf(a.name) - names.indexOf(b.name))
    .map(({ name, description, ids }) => [`\`${name}\``, ids.join(', '), description]);
}

const TABLES = {
  endpoints: { head: ['endpoint', 'methods', 'what it does'], rows: endpoints },
  parameters: { head: ['parameter', 'operations', 'meaning'], rows: parameters },
};

/** `docs/api.md` with the current tables of endpoints and parameters, each of which stands between two markers. */
export function renderOperationTables(document: string): string {
  return Object.entries(TABLES).reduce((text, [name, { head, rows }]) => {
    const table = [head, head.map(() => '---'), ...rows()].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
    const [before, after] = [`<!-- ${name}: npm run dev -- docs -->`, `<!-- end of ${name} -->`];
    const [start, end] = [text.indexOf(before), text.indexOf(after)];
    if (start < 0 || end < start) throw new Error(`docs/api.md lacks the markers of its table of ${name}.`);
    return `${text.slice(0, start)}${before}\n${table}\n${text.slice(end)}`;
  }, document);
}
