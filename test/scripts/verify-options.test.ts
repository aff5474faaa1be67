import { describe, expect, it } from 'vitest';
import { UsageError } from '../../scripts/command-line.ts';
import { parseOptions } from '../../scripts/verify/options.ts';
import { formatResult, formatSummary } from '../../scripts/verify/report.ts';

describe('parseOptions', () => {
  it('reads base URL, links and bounds', () => {
    const link = 'https://site.example/watch?v=1#t=5';
    const args = ['https://one.example/', '--link', link, '--wait', '0', '--json'];
    expect(parseOptions(args, { REELAY_ACCESS_KEY: ' secret ' })).toEqual({
      baseUrl: 'https://one.example',
      links: [link],
      maxWaitMs: 0,
      isJson: true,
      accessKey: 'secret',
    });
    expect(parseOptions(['http://127.0.0.1:8080/reelay/']).baseUrl).toBe('http://127.0.0.1:8080/reelay');
  });

  it.each([
    [[]],
    [['one.example']],
    [['ftp://one.example']],
    [['https://one.example?x=1']],
    [['https://user@one.example']],
    [['https://one.example', 'https://two.example']],
    [['https://one.example', '--link', 'words']],
    [['https://one.example', '--wait', 'long']],
    [['https://one.example', '--wait', '']],
    [['https://one.example', '--wait', '3601']],
    [['https://one.example', '--unknown']],
    [['https://one.example', ...Array.from({ length: 6 }, () => ['--link', 'https://site.example']).flat()]],
  ])('rejects %j', (args) => expect(() => parseOptions(args)).toThrow(UsageError));
});

describe('report', () => {
  it('has a line for each check, with the reason of a failure below', () => {
    const result = { group: 'instance', title: 'answers' };
    expect(formatResult({ ...result, outcome: 'ok' })).toBe('  ok       answers');
    expect(formatResult({ ...result, outcome: 'skipped', detail: 'no link' })).toBe('  skipped  answers (no link)');
    expect(formatResult({ ...result, outcome: 'failed', detail: 'expected 200' })).toBe(
      '  FAILED   answers\n             expected 200',
    );
  });

  it('ends with the number of outcomes and what was sent', () => {
    const results = (['ok', 'ok', 'failed'] as const).map((outcome) => ({ group: 'a', title: 'b', outcome }));
    const verification = { baseUrl: 'https://one.example', results, requests: 80, bytes: 1_250_000, seconds: 9.6 };
    expect(formatSummary(verification)).toBe('2 ok, 1 failed, 0 skipped: 80 requests, 1.3 MB, 10 s');
  });
});
