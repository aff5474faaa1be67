import { escapeXml, prefersHtml, renderJson } from '../http/index.ts';
import { routes } from './operations.ts';
import type { ProblemDetails } from './problem.ts';
import { PROBLEM_TYPES, type ProblemName, type ProblemType, problemNameOf, typeReference } from './problem-types.ts';

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
    html: renderPage(type, { status: type.status, root: '../' }),
  }));

/** One occurrence of a problem. */
interface Occurrence {
  readonly status: number;
  /** The reference to the root of the instance. */
  readonly root: string;
  /** What is wrong, in plain text of any origin. */
  readonly said?: string | undefined;
}

const renderPage = (
  { heading, meaning, help, operators }: ProblemType,
  { status, root, said }: Occurrence,
): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${heading} – Reelay</title>
<link rel="icon" href="${root}icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${root}problems.css">
</head>
<body>
<main>
<h1>${heading}</h1>
${said ? `<p><strong>${escapeXml(said)}</strong></p>\n` : ''}<p>${toHtml(meaning)}</p>
<h2>What to do</h2>
<p>${toHtml(help)}</p>
${operators ? `<h2>For operators</h2>\n<p>${toHtml(operators)}</p>\n` : ''}<p><small>Status ${status}. <a href="${root}">Back to Reelay</a></small></p>
</main>
</body>
</html>
`;

/** The texts of the table contain code in backticks and no markup. */
const toHtml = (text: string): string => text.replace(/`([^`]+)`/g, '<code>$1</code>');

interface ProblemRequest {
  /** Its header. */
  readonly accept: string | undefined;
  /** Path and query. */
  readonly target: string;
}

/** Links within the instance, and nothing that runs. */
const POLICY =
  "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'";

/** What a request is answered with that fails, beside the status: JSON, and the page of the problem to browsers. */
export function renderProblem(
  details: ProblemDetails,
  { accept, target }: ProblemRequest,
): ReturnType<typeof renderJson> {
  if (!prefersHtml(accept)) return renderJson(details, accept);
  const name = problemNameOf(details) as ProblemName;
  const [path = '', query = ''] = target.split(/\?(.*)/s, 2);
  // Relative: a proxy may serve the instance below any path.
  const root = '../'.repeat(Math.max(path.split('/').length - 2, 0)) || './';
  const said = details.detail ?? describe(name, path, query);
  return {
    headers: { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': POLICY, vary: 'Accept' },
    body: renderPage(PROBLEM_TYPES[name], { status: details.status, root, said }),
  };
}

/** Characters of a request that its page repeats. */
const MAX_REPEATED = 200;
const cut = (text: string): string => (text.length > MAX_REPEATED ? `${text.slice(0, MAX_REPEATED)}…` : text);

/** What is wrong, where ProblemDetails has no detail by contract. */
function describe(name: ProblemName, path: string, query: string): string | undefined {
  if (name === 'not-found' && !PATHS.some((known) => known.test(path))) return `There is no ${cut(path)}.`;
  if (name !== 'bad-url') return undefined;
  const link = new URLSearchParams(query).get('url');
  return link ? `This is not a link: ${cut(link)}` : 'The address has no parameter url.';
}

const PATHS = routes.map(({ path }) => new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`, 'i'));
