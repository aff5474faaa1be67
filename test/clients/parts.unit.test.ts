import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { download } from '../../clients/reelay-client/src/files/index.ts';
import { createClient } from '../../clients/reelay-client/src/index.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const INSTANCE = 'https://other.example';

/** Downloads the bodies of some responses, after one to HEAD, beside a partial file. @param entity what is known of it */
async function downloadBeside(
  part: string,
  head: Record<string, string>,
  bodies: readonly (() => Response)[],
  entity?: object,
) {
  const file = join(await temporaryFolder(), 'file');
  if (part) await writeFile(`${file}.part`, part);
  if (entity) await writeFile(`${file}.part.json`, JSON.stringify(entity));
  const left = [...bodies];
  const fetch = async (_: unknown, { method }: RequestInit = {}) =>
    method === 'HEAD' ? new Response(null, { headers: head }) : (left.shift() ?? expect.fail('Requested again'))();
  const client = createClient({ instance: INSTANCE, fetch: fetch as typeof globalThis.fetch });
  const sleep = async () => undefined;
  const ended = await download(client, `${INSTANCE}/file`, { file, sleep }).catch((error: unknown) => error);
  const textOf = (name: string) => readFile(name, 'utf8').catch(() => undefined);
  return { ended, text: await textOf(file), part: await textOf(`${file}.part`) };
}

const whole = (text: string) => () => new Response(text, { headers: { 'content-length': String(text.length) } });

describe('a partial file without a description', () => {
  it('is not taken for the complete file when its size matches', async () => {
    const { ended, text } = await downloadBeside('other', { 'content-length': '5' }, [whole('right')]);
    expect([ended, text]).toMatchObject([{ bytes: 5, resumedBytes: 0 }, 'right']);
  });

  it('that does not exist is not taken for an empty file', async () => {
    const { ended, text } = await downloadBeside('', { 'content-length': '0' }, [() => new Response('right')]);
    expect([ended, text]).toMatchObject([{ bytes: 5 }, 'right']);
  });

  it('does not prevent retries', async () => {
    const busy = () => new Response(null, { status: 503 });
    const { ended, text } = await downloadBeside('other', {}, [busy, busy, whole('right')]);
    expect([ended, text]).toMatchObject([{ bytes: 5 }, 'right']);
  });
});

it('no more is received than a response states', async () => {
  const known = { etag: '"a"', 'accept-ranges': 'bytes' };
  const endless = () => new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(30)) });
  const rest = () =>
    new Response(endless(), { status: 206, headers: { ...known, 'content-range': 'bytes 60-99/100' } });
  const entity = { etag: '"a"', totalBytes: 100, canResume: true };
  const { ended, part } = await downloadBeside('x'.repeat(60), { ...known, 'content-length': '100' }, [rest], entity);
  expect(ended).toMatchObject({ code: 'unexpected-response' });
  expect(part).toHaveLength(90);
});
