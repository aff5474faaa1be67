import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { SettingError } from '../../../core/config/parsers.ts';
import { ENTRIES_AT_ONCE, readFunctionEnvironment } from '../../../lambdas/function-environment.ts';

const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'));

const failureOf = (environment: Record<string, string | undefined>) => {
  try {
    return readFunctionEnvironment(environment);
  } catch (error) {
    return error;
  }
};

describe('readFunctionEnvironment', () => {
  it('needs only the table name', () => {
    expect(readFunctionEnvironment({ TABLE_NAME: ' table ' })).toEqual({
      tableName: 'table',
      stage: 'local',
      version,
      environment: 'Production',
      origins: [],
    });
  });

  it('reads every variable', () => {
    const environment = {
      TABLE_NAME: 'table',
      STAGE: 'prod',
      REELAY_ENVIRONMENT: 'development',
      CORS_ALLOWED_ORIGINS: 'https://a.example, https://b.example:8443',
      ORIGIN_SECRET: 'hush',
    };
    expect(readFunctionEnvironment(environment)).toEqual({
      tableName: 'table',
      stage: 'prod',
      version,
      environment: 'Development',
      origins: ['https://a.example', 'https://b.example:8443'],
      originSecret: 'hush',
    });
  });

  it.each([undefined, '', '  '])('has no origin secret when the variable is %j', (ORIGIN_SECRET) => {
    expect(readFunctionEnvironment({ TABLE_NAME: 'table', ORIGIN_SECRET }).originSecret).toBeUndefined();
  });

  it.each([
    [{}, 'TABLE_NAME must be set'],
    [{ TABLE_NAME: ' ' }, 'TABLE_NAME must be set'],
    [{ TABLE_NAME: 't', REELAY_ENVIRONMENT: 'test' }, /^REELAY_ENVIRONMENT must be one of Production, Development/],
    [{ TABLE_NAME: 't', CORS_ALLOWED_ORIGINS: 'page' }, /^CORS_ALLOWED_ORIGINS must be a comma list of origins/],
  ])('rejects %j in one line that names the variable', (environment, message) => {
    const failure = failureOf(environment);
    expect(failure).toBeInstanceOf(SettingError);
    expect((failure as Error).message).toMatch(message);
    expect((failure as Error).message).not.toContain('\n');
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
