import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { SettingError } from '../../../core/config/parsers.ts';
import { ENTRIES_AT_ONCE, readFunctionEnvironment } from '../../../lambdas/function-environment.ts';

const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'));

describe('readFunctionEnvironment', () => {
  const LEAST = { tableName: 'table', stage: 'local', version, environment: 'Production', origins: [] };
  it.each([
    ['the table name alone', { TABLE_NAME: ' table ' }, LEAST],
    [
      'every variable',
      {
        TABLE_NAME: 'table',
        STAGE: 'prod',
        REELAY_ENVIRONMENT: 'development',
        CORS_ALLOWED_ORIGINS: 'https://a.example, https://b.example:8443',
      },
      {
        ...LEAST,
        stage: 'prod',
        environment: 'Development',
        origins: ['https://a.example', 'https://b.example:8443'],
      },
    ],
  ])('reads %s', (_, environment, expected) => expect(readFunctionEnvironment(environment)).toEqual(expected));

  it.each([
    [{}, 'TABLE_NAME must be set'],
    [{ TABLE_NAME: ' ' }, 'TABLE_NAME must be set'],
    [{ TABLE_NAME: 't', REELAY_ENVIRONMENT: 'test' }, /^REELAY_ENVIRONMENT must be one of Production, Development/],
    [{ TABLE_NAME: 't', CORS_ALLOWED_ORIGINS: 'page' }, /^CORS_ALLOWED_ORIGINS must be a comma list of origins/],
  ])('rejects %j in one line that names the variable', (environment, message) => {
    const read = () => readFunctionEnvironment(environment);
    expect(read).toThrow(SettingError);
    expect(read).toThrow(message);
    expect(read).not.toThrow(/\n/);
  });
});

describe('ENTRIES_AT_ONCE', () => {
  it.each([
    ['24', 24],
    [' 1 ', 1],
    [undefined, 4],
    [' ', 4],
  ])('reads %j as %d', (value, expected) => expect(ENTRIES_AT_ONCE({ ENTRIES_AT_ONCE: value })).toBe(expected));

  it('rejects a number out of bounds', () =>
    expect(() => ENTRIES_AT_ONCE({ ENTRIES_AT_ONCE: '0' })).toThrow(
      /^ENTRIES_AT_ONCE must be a whole number from 1 to 100/,
    ));
});
