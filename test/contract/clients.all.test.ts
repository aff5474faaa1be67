import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { SECONDS } from '../origin/recipes.ts';
import { itWith } from '../support/clients.ts';
import { probe, runProgram, withTemporaryFolder } from '../support/media-tools.ts';
import { renditionOf, sizedConversionOf } from './stream-helpers.ts';
import { useTarget } from './target.ts';

const target = useTarget();

/** A direct file, a file of a strict upstream, and a part of a conversion, by their seconds. */
const KINDS = { direct: SECONDS.long, strict: SECONDS.long, mp3: 100 } as const;
type Kind = keyof typeof KINDS;
const streams: Partial<Record<Kind, { url: string; bytes: Buffer }>> = {};
beforeAll(async () => {
  const paths = {
    direct: (await renditionOf(target, '/files/long.mp4')).path,
    strict: (await renditionOf(target, '/site/long-strict/clients', 'audio')).path,
    mp3: `${(await sizedConversionOf(target, '/files/long.mp4')).path}&start=0&end=${KINDS.mp3}`,
  };
  for (const kind of ['direct', 'strict', 'mp3'] as const)
    streams[kind] = { url: target.baseUrl + paths[kind], bytes: (await target.get(paths[kind])).body };
});
const streamOf = (kind: Kind) => streams[kind] ?? expect.fail('Not resolved');

/** How much of a download is there, in bytes from its end, and how a program is called for the rest. */
const DOWNLOADS = [
  ['curl', 'completely', undefined, (url, file) => ['-sSf', '-o', file, url]],
  ['curl', 'from where it was', 323_457, (url, file) => ['-sSf', '-C', '-', '-o', file, url]],
  ['wget', 'from where it was', 400_001, (url, file) => ['-q', '-c', '-O', file, url]],
  ['wget', 'that is complete', 0, (url, file) => ['-q', '-c', '-O', file, url]],
  [
    'aria2c',
    'from eight parts',
    undefined,
    (url, file) => [
      ...['-x', '8', '-s', '8', '-k', '1M', '--min-split-size=1M', '--quiet=true', '--allow-overwrite=true'],
      ...['--file-allocation=none', '-d', join(file, '..'), '-o', 'download.bin', url],
    ],
  ],
] as const satisfies readonly (readonly [
  string,
  string,
  number | undefined,
  (url: string, file: string) => string[],
])[];

describe.each(Object.keys(KINDS) as Kind[])('%s stream', (kind) => {
  for (const [program, how, missingBytes, args] of DOWNLOADS)
    itWith(program)(`is downloaded by ${program} ${how}`, () =>
      withTemporaryFolder(async (folder) => {
        const { url, bytes } = streamOf(kind);
        const file = join(folder, 'download.bin');
        if (missingBytes !== undefined) await writeFile(file, bytes.subarray(0, bytes.length - missingBytes));
        const { code, output } = await runProgram(program, args(url, file));
        expect(code, output).toBe(0);
        expect((await readFile(file)).equals(bytes)).toBe(true);
      }),
    );

  it('has a duration that ffprobe reads, and is seekable with FFmpeg', async () => {
    const { url } = streamOf(kind);
    expect((await probe(url)).durationSeconds).toBeCloseTo(KINDS[kind], 0);
    const seek = ['-nostdin', '-v', 'error', '-ss', String(KINDS[kind] - 30), '-i', url, '-t', '1', '-f', 'null', '-'];
    expect(await runProgram('ffmpeg', seek)).toEqual({ code: 0, output: '' });
  });
});

/** What is used of RFC 5854, as RELAX NG. */
const METALINK = `<element name="metalink" ns="urn:ietf:params:xml:ns:metalink" xmlns="http://relaxng.org/ns/structure/1.0"
    datatypeLibrary="http://www.w3.org/2001/XMLSchema-datatypes">
  <element name="generator"><text/></element>
  <oneOrMore><element name="file">
    <attribute name="name" ns=""><data type="string"><param name="pattern">[^/.][^/]*/[^/]+</param></data></attribute>
    <optional><element name="size"><data type="positiveInteger"/></element></optional>
    <element name="url"><data type="anyURI"/></element>
  </element></oneOrMore>
</element>`;

itWith('aria2c')('a feed is a Metalink whose files aria2c downloads byte for byte', () =>
  withTemporaryFolder(async (folder) => {
    const { headers, body } = await target.get(
      `${target.pathOf('Feed', '/feeds/podcast.xml')}&format=metalink&quality=audio`,
    );
    expect(headers['content-type']).toBe('application/metalink4+xml');
    const [document, schema] = [join(folder, 'list.meta4'), join(folder, 'metalink.rng')];
    await Promise.all([writeFile(document, body), writeFile(schema, METALINK)]);
    const { code, output } = await runProgram('xmllint', ['--noout', '--nonet', '--relaxng', schema, document]);
    expect([code, output]).toEqual([0, expect.stringContaining('validates')]);
    const files = [...body.toString().matchAll(/<file name="([^"]+)">.*?<url>([^<]+)/g)];
    expect(files.map(([, name]) => name)).toEqual(
      ['01 - Episode 1.mp3', '02 - Episode 2.m4a', '03 - Episode 3.ogg'].map((name) => `A podcast/${name}`),
    );
    const args = ['--quiet=true', '--file-allocation=none', '--dir', folder, '-M', document];
    expect(await runProgram('aria2c', args)).toMatchObject({ code: 0 });
    for (const [, name = '', url = ''] of files) {
      const { headers: redirect } = await target.get(url.replace(/^http:\/\/[^/]+/, '').replaceAll('&amp;', '&'));
      const { body: whole } = await target.get(redirect.location ?? '');
      expect((await readFile(join(folder, name))).equals(whole)).toBe(true);
    }
  }),
);
