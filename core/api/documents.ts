import { operations } from './operations.ts';

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
