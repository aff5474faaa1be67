import { describe, expect, it } from 'vitest';
import { openApiDocument } from '../../../core/api/openapi.ts';
import { operations } from '../../../core/api/operations.ts';
import { schemas } from '../../../core/api/schemas.ts';
import { JSON_TYPES } from '../../../core/http/response-headers.ts';

// test/contract compares the description with independent tables of the contract.
describe('openApiDocument', () => {
  const text = JSON.stringify(openApiDocument);

  it('is plain JSON', () => expect(JSON.parse(text)).toEqual(openApiDocument));

  it('references defined schemas only', () => {
    const names = [...text.matchAll(/"\$ref":"([^"]+)"/g)].map(([, name]) => name);
    const known = Object.keys(schemas).map((name) => `#/components/schemas/${name}`);
    expect(names.length).toBeGreaterThan(0);
    expect(known).toEqual(expect.arrayContaining([...new Set(names)]));
  });

  it('contains every operation once', () => {
    const ids = [...text.matchAll(/"operationId":"(\w+)"/g)].map(([, id]) => id);
    expect(ids).toEqual(operations.map(({ operationId }) => operationId));
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('declares the parameters of each path', () => {
    for (const { path, parameters } of operations) {
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      expect(parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name)).toEqual(inPath);
    }
  });

  it('offers every JSON body in the three types', () => {
    const { 200: app } = openApiDocument.paths['/api/App']?.get.responses ?? {};
    expect(Object.keys(app?.content ?? {})).toEqual([...JSON_TYPES]);
  });
});
