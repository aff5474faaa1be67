import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { UsageError } from '../../scripts/command-line.ts';
import { parseOptions, readLinks } from '../../scripts/verify/options.ts';
import { formatResult, formatSites, formatSummary } from '../../scripts/verify/report.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

async function temporaryFile(text: string): Promise<string> {
  const file = join(await temporaryFolder(), 'links.txt');
  await writeFile(file, text);
  return file;
}

describe('parseOptions', () => {
  it('reads base URL, links and bounds', () => {
    const link = 'https://site.example/watch?v=1#t=5';
    const args = ['https://one.example/', '--link', link, '--wait', '0', '--json'];
    expect(parseOptions(args, { REELAY_ACCESS_KEY: ' secret ' })).toEqual({
      baseUrl: 'https://one.example',
      links: [link],
      linksFile: undefined,
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
    const results = (['ok', 'ok', 'failed'] as const).map((outcome) => ({
      group: 'a',
      title: 'b',
      outcome,
      seconds: 1,
    }));
    const verification = { baseUrl: 'https://one.example', results, requests: 80, bytes: 1_250_000, seconds: 9.6 };
    expect(formatSummary(verification)).toBe('2 ok, 1 failed, 0 skipped: 80 requests, 1.3 MB, 10 s');
  });

  it('has a line for each site, with the median of the seconds and the reasons of failures', () => {
    const ofSite = (group: string, outcome: 'ok' | 'failed', seconds: number, detail?: string) => ({
      ...{ group, title: 'link', outcome, seconds },
      ...(detail && { detail }),
    });
    const results = [
      ofSite('one.example', 'ok', 3),
      ofSite('one.example', 'ok', 1),
      ofSite('one.example', 'failed', 9, '415 bot-check'),
      ofSite('one.example', 'ok', 2),
      ofSite('two.example', 'failed', 1, '404 gone'),
      ofSite('two.example', 'failed', 1, '404 gone'),
    ];
    expect(formatSites({ results }, ['one.example', 'two.example'])).toBe(
      [
        'site           streamed   seconds  not streamed',
        'one.example      3 of 4       2.0  415 bot-check',
        'two.example      0 of 2            404 gone (2)',
      ].join('\n'),
    );
  });
});

describe('readLinks', () => {
  it('reads one link per line, without empty lines and comments', async () => {
    const file = await temporaryFile('# my links\n\nhttps://one.example/a?b=1#c\r\n  http://two.example\n');
    expect(await readLinks(file)).toEqual(['https://one.example/a?b=1#c', 'http://two.example']);
  });

  it.each([
    ['https://one.example\nwords', /links\.txt, line 2: must begin with/],
    ['# none', /has no links/],
    ['https://one.example\n'.repeat(501), /more than 500 links/],
  ])('rejects %j', async (text, message) => {
    await expect(readLinks(await temporaryFile(text))).rejects.toThrow(message);
  });

  it('names a file that cannot be read', async () => {
    await expect(readLinks('/nonexistent/links.txt')).rejects.toThrow('/nonexistent/links.txt cannot be read: ENOENT');
  });
});
