import { buffer } from 'node:stream/consumers';
import { ByteReader, readFileHeaders } from '@reelay/seekable-media/reading';
import fc from 'fast-check';
import { expect } from 'vitest';
import { readLayoutBytes } from '../../../../packages/seekable-media/src/reading/layout-bytes.ts';
import { createLayout } from '../../../../packages/seekable-media/src/virtual-mp4/create-layout.ts';
import type { Layout } from '../../../../packages/seekable-media/src/virtual-mp4/layout.ts';
import type { SizedFile } from '../../../../stream-service/source/open-source.ts';
import { fileSource } from '../encode/mp3/fixture.ts';

export const sized = (bytes: Buffer) => fileSource(bytes) as SizedFile & { readonly size: number };

/** The layout of a pair. */
export async function layOut(files: readonly SizedFile[]): Promise<Layout> {
  const { signal } = new AbortController();
  const [video, audio] = await Promise.all(files.map((file) => readFileHeaders(new ByteReader(file), { signal })));
  if (!video || !audio) throw new Error('unreachable');
  return createLayout([video, audio]);
}

/** Bytes of the layout of one or two files, both ends included. */
export const read = (layout: Layout, files: readonly SizedFile[], first: number, last: number): Promise<Buffer> =>
  buffer(readLayoutBytes({ layout, first, last, openSource: openOf(files) }));

/** Opens readers of files in memory. */
export const openOf = (files: readonly SizedFile[]) => async (source: number) =>
  new ByteReader(files[source] as SizedFile);

/** Bytes that are written over some of a file. @param place where */
export const manglings = (place: fc.Arbitrary<number>) =>
  fc.array(fc.tuple(place, fc.oneof(fc.constantFrom(0, 255), fc.nat(255))), { minLength: 1, maxLength: 8 });

/** Expects that the beginning of a layout is read to its end, or fails. */
export async function expectWholeOrError(layout: Layout, files: readonly SizedFile[]): Promise<void> {
  const last = Math.min(layout.size, 300_000) - 1;
  const got = await read(layout, files, 0, last).catch((error: unknown) => error);
  if (Buffer.isBuffer(got)) expect(got.length).toBe(last + 1);
  else expect(got).toBeInstanceOf(Error);
}
