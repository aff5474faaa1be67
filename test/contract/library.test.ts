import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { probe, runProgram, withTemporaryFolder } from '../support/media-tools.ts';
import { useTarget } from './target.ts';

const target = useTarget();

it.each([
  ['a pair of files', '/site/watch/library', '&quality=720p', []],
  ['a file with subtitles', '/site/detailed/library', '', ['de', 'en', 'fr']],
] as const)(
  'a library of %s has links that seek, also after the addresses of the source have expired',
  async (_, path, more, languages) => {
    const link = `/api/Get?url=${encodeURIComponent(target.origin.url(path))}&format=strm${more}`;
    const { status, headers } = await target.get(link);
    expect(status).toBe(302);
    const { body } = await target.get(headers.location ?? '');
    await withTemporaryFolder(async (folder) => {
      await writeFile(join(folder, 'library.zip'), body);
      await mkdir(join(folder, 'out'));
      const unzipped = await runProgram('unzip', ['-q', join(folder, 'library.zip'), '-d', join(folder, 'out')]);
      expect(unzipped).toEqual({ code: 0, output: '' });
      const files = (await readdir(join(folder, 'out'), { recursive: true })).filter((name) => /\.\w+$/.test(name));
      const name = (ending: string) => join(folder, 'out', files.find((file) => file.endsWith(ending)) ?? ending);
      expect(files.map((file) => file.replace(/^.*library\]/, '').replace(/^.*\//, '')).toSorted()).toEqual(
        [
          ...['.strm', '.nfo', '-poster.jpg', 'folder.jpg', 'index.txt'],
          ...languages.map((language) => `.${language}.srt`),
        ].toSorted(),
      );
      expect(await runProgram('xmllint', ['--noout', name('.nfo')])).toEqual({ code: 0, output: '' });
      const url = (await readFile(name('.strm'), 'utf8')).trim();
      target.origin.expireUrls();
      const { streams, durationSeconds } = await probe(url);
      expect(streams.map(({ type }) => type).toSorted()).toEqual(['audio', 'video']);
      expect(durationSeconds).toBeCloseTo(8, 0);
      // As players seek: by the index of the file and a range.
      const seek = ['-v', 'error', '-seekable', '1', '-read_intervals', '6%+#1', '-select_streams', 'v'];
      const entries = ['-show_entries', 'packet=pts_time', '-of', 'csv=p=0', url];
      const { code, output } = await runProgram('ffprobe', [...seek, ...entries]);
      expect([code, Number.parseFloat(output)]).toEqual([0, expect.closeTo(6, 0)]);
      const media = await target.get(new URL(url).pathname + new URL(url).search);
      const part = await target.get(media.headers.location ?? '', { headers: { range: 'bytes=1000-1999' } });
      expect([part.status, part.body.length]).toEqual([206, 1000]);
    });
  },
);
