import { PROBLEM_TYPES, type ProblemName, type ProblemType, typeReference } from './problem-types.ts';

/** The page that the `type` of a problem refers to. */
interface ProblemPage {
  /** `/problems/NAME`. */
  readonly path: string;
  readonly html: string;
}

const types = Object.entries<ProblemType>(PROBLEM_TYPES) as [ProblemName, ProblemType][];

/** One page for each type of problem. Its style sheet is `web/public/problems.css`, for the page allows no inline styles. */
export const problemPages = (): ProblemPage[] =>
  types.map(([name, type]) => ({ path: typeReference(name), html: renderPage(type) }));

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

const HEAD = `# Problems

Generated from \`core/api/problem-types.ts\` by \`npm run dev -- docs\`.

The body of every failed request is JSON in the shape of problem details (RFC 9457). Its \`type\` is a relative reference,
\`/problems/NAME\`, that every instance serves as a page. A stream that fails while it is opened answers 502 where the table
says 415.

| Type | Status | Meaning | What to do | Operators |
| --- | --- | --- | --- | --- |
`;

/** `docs/problems.md`. */
export const renderProblemReference = (): string =>
  `${HEAD}${types
    .map(
      ([name, { status, meaning, help, operators = '' }]) =>
        `| \`${name}\` | ${status} | ${meaning} | ${help} | ${operators} |\n`,
    )
    .join('')}`;
