import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { formatFindings } from '../../core/findings/index.ts';
import { UsageError } from '../../scripts/command-line.ts';
import { parseOptions, readLinks } from '../../scripts/verify/options.ts';
import { findingsOf, streamLinks } from '../../scripts/verify/sites.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

async function temporaryFile(text: string): Promise<string> {
  const file = join(await temporaryFolder(), 'links.txt');
  await writeFile(file, text);
  return file;
}

describe('parseOptions', () => {
  it('reads base URL, links and bounds', () => {
    const link = 'https://site.example/watch?v=1#t=5';
    const args = ['https://one.example/', '--link', link, '--wait', '0'];
    expect(parseOptions(args, { REELAY_ACCESS_KEY: ' secret ' })).toEqual({
      baseUrl: 'https://one.example',
      links: [link],
      linksFile: undefined,
      maxWaitMs: 0,
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
  ])('rejects %j', (args) => expect(() => parseOptions(args)).toThrow(UsageError));
});

it('has a finding for each site, with the median of the seconds and the reasons of failures', () => {
  const one = { site: 'one.example' };
  const two = { site: 'two.example' };
  const links = [
    { ...one, seconds: 3 },
    { ...one, seconds: 1 },
    { ...one, seconds: 9, failure: '415 bot-check' },
    { ...one, seconds: 2 },
    { ...two, seconds: 1, failure: '404 gone' },
    { ...two, seconds: 1, failure: '404 gone' },
  ];
  expect(formatFindings(findingsOf([...links, { site: 'a.example', seconds: 4 }])).split('\n')).toEqual([
    'problem  one.example    3 of 4 streamed, in 2.0 s; not: 415 bot-check',
    'problem  two.example    0 of 2 streamed; not: 404 gone (2)',
    'ok       a.example      1 of 1 streamed, in 4.0 s',
  ]);
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

describe('streamLinks', () => {
  it('names the status of an answer that a proxy gives instead of the instance', async () => {
    const answer = { status: 502, headers: {}, body: Buffer.from('<html>Bad Gateway</html>') };
    const [streamed] = await streamLinks(async () => answer as never, ['https://site.example/video']);
    expect(streamed?.failure).toBe('502');
  });
});
