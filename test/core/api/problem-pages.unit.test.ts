import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { problemPages, renderOperationTables } from '../../../core/api/documents.ts';
import { openApiDocument } from '../../../core/api/openapi.ts';
import { problems } from '../../../core/api/problem.ts';
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

it('the description of the API lists every type', () => {
  const { properties } = openApiDocument.components.schemas.ProblemDetails as {
    properties: { type: { description: string } };
  };
  for (const path of pages.keys()) expect(properties.type.description).toContain(path);
});
