import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { describe, expect, it } from 'vitest';
import { readBoundedLines } from '../../../layers/tools/worker/worker-client.ts';

async function read(chunks: readonly (string | Buffer)[], maxBytes = 5) {
  const lines: string[] = [];
  const stream = Readable.from(chunks.map((chunk) => Buffer.from(chunk)));
  readBoundedLines(stream, {
    maxBytes,
    onLine: (line) => lines.push(line),
    onTooLong: (beginning) => lines.push(`${beginning}…`),
  });
  await finished(stream);
  return lines;
}

describe('readBoundedLines', () => {
  it.each<[string, (string | Buffer)[], string[]]>([
    ['nothing', [], []],
    ['lines in one chunk', ['a\nb\n'], ['a', 'b']],
    ['a line in many chunks', ['a', 'b', '\n'], ['ab']],
    ['empty lines', ['\n\n'], ['', '']],
    ['a last line that never ended', ['a\nb'], ['a']],
    ['a line of just the bound', ['abcde\n'], ['abcde']],
    ['a line beyond it, and one after', ['abcdef\nb\n'], ['abcde…', 'b']],
    ['a line far beyond it, in chunks', ['abcdef', 'ghi', 'jkl\nb\n'], ['abcde…', 'b']],
    ['a character cut in two', [Buffer.from([0xc3]), Buffer.from([0xa9, 10])], ['é']],
    ['bytes that are no text', [Buffer.from([0xff, 10])], ['\ufffd']],
  ])('%s', async (_, chunks, lines) => expect(await read(chunks)).toEqual(lines));
});
