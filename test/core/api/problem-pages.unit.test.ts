import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { renderOperationTables } from '../../../core/api/documents.ts';
import { openApiDocument } from '../../../core/api/openapi.ts';
import { type ProblemDetails, problems } from '../../../core/api/problem.ts';
import { problemPages, renderProblem } from '../../../core/api/problem-pages.ts';
import { PROBLEM_TYPES, type ProblemType } from '../../../core/api/problem-types.ts';
import { settingVariables } from '../../../core/config/settings.ts';

const ROOT = join(import.meta.dirname, '../../..');
const pages = new Map(problemPages().map(({ path, html }) => [path, html]));

it('the tables of docs/api.md match the operations; otherwise run npm run dev -- docs', () => {
  const api = readFileSync(join(ROOT, 'docs/api.md'), 'utf8');
  expect(api).toBe(renderOperationTables(api));
});

describe('pages of problems', () => {
  it('exist for the type of every problem', () => {
    expect(pages.has(problems.badLink().details.type)).toBe(true);
    expect([...pages.keys()]).toEqual(Object.keys(PROBLEM_TYPES).map((name) => `/problems/${name}`));
  });

  it.each([...pages])('%s has texts without markup of their own, and nothing inline', (path, html) => {
    expect(html).toMatch(/<title>[^<]+ – Reelay<\/title>/);
    expect(html).not.toMatch(/`|<script|<style|\sstyle=|undefined/);
    expect(path).toMatch(/^\/problems\/[a-z-]+$/);
  });

  it('name settings that exist', () => {
    const named = Object.values<ProblemType>(PROBLEM_TYPES).flatMap(
      ({ operators = '' }) => operators.match(/`[A-Z_]+`/g) ?? [],
    );
    expect(named.length).toBeGreaterThan(5);
    expect([...settingVariables()]).toEqual(expect.arrayContaining(named.map((name) => name.slice(1, -1))));
  });
});

describe('the answer to a request that fails', () => {
  const BROWSER = 'text/html,application/xhtml+xml,*/*;q=0.8';
  const { details } = problems.notFound();
  const pageOf = (target: string, given: ProblemDetails = details) =>
    renderProblem(given, { accept: BROWSER, target }).body;

  it.each([undefined, '*/*', 'application/json', 'text/html, application/json'])('is JSON for Accept %j', (accept) => {
    const { headers, body } = renderProblem(details, { accept, target: '/api/x' });
    expect(headers).toEqual({ 'content-type': 'application/json; charset=utf-8', vary: 'Accept' });
    expect(JSON.parse(body)).toEqual(details);
  });

  it.each([
    ['/api/x', '../', 'There is no /api/x.'],
    ['/mcp', './', undefined],
    ['/swagger', './', 'There is no /swagger.'],
    ['/API/Stream/Media/key?start=1', '../../../', undefined],
    ['/api//x', '../../', 'There is no /api//x.'],
    ['', './', 'There is no .'],
    [`/api/${'x'.repeat(60_000)}`, '../', `There is no /api/${'x'.repeat(195)}….`],
  ])('is a page at %.40s, with links to %s, and says: %.60s', (target, root, said) => {
    const html = pageOf(target);
    expect(html).toContain(`<link rel="stylesheet" href="${root}problems.css">`);
    expect(html).toContain(`<a href="${root}">Back to Reelay</a>`);
    expect(/<strong>(.*)<\/strong>/.exec(html)?.[1]).toBe(said);
    expect(html).toContain('Status 404.');
  });

  it.each([
    ['/api/Get?url=ftp%3A%2F%2Fa', 'This is not a link: ftp://a'],
    ['/api/Get?url=', 'The address has no parameter url.'],
    ['/api/Get', 'The address has no parameter url.'],
  ])('says what is wrong with the link of %s', (target, said) =>
    expect(pageOf(target, problems.badLink().details)).toContain(`<strong>${said}</strong>`),
  );

  it('has the detail and the status of its occurrence', () => {
    const html = pageOf('/api/Get?url=x', { ...details, type: '/problems/drm', status: 502, detail: 'A & B' });
    expect(html).toContain('<strong>A &amp; B</strong>');
    expect(html).toContain('Status 502.');
  });

  const HOSTILE = `"'><script>alert(1)</script><img src=x onerror=y>&\u0000\ud800\u202e`;
  it.each([
    ['a path', `/api/${HOSTILE}`, details],
    ['a query', `/api/Get?url=${encodeURIComponent(HOSTILE.toWellFormed())}`, problems.badLink().details],
    ['a detail', '/api/Get', { ...details, detail: HOSTILE }],
  ])('has no markup of %s', (_, target, given) => {
    const html = pageOf(target, given);
    expect(html).not.toMatch(/<script|<img|onerror=y>|[\0\ud800]/u);
    expect(/<strong>(.*)<\/strong>/s.exec(html)?.[1]).toMatch(/^[^<>"']*$/);
    expect(html.match(/<\w+/g)).toEqual(pageOf('/api/New').match(/<\w+/g));
  });
});

it('the description of the API lists every type', () => {
  const { properties } = openApiDocument.components.schemas.ProblemDetails as {
    properties: { type: { description: string } };
  };
  for (const path of pages.keys()) expect(properties.type.description).toContain(path);
});
