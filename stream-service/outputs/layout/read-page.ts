import { checkedPage, oggHeaderBytes } from '../../../core/media/ogg/index.ts';
import type { Extent, Layout } from '../../../core/media/virtual-mp4/index.ts';
import type { ByteReader } from './byte-reader.ts';

/**
 * The part of a page of Ogg from `first` to `end`, which is excluded: offsets in the output. The whole page is read, since
 * its header has a checksum of its data.
 */
export async function readPage(
  reader: ByteReader,
  { own }: Pick<Layout, 'own'>,
  { extent, first, end }: { readonly extent: Extent; readonly first: number; readonly end: number },
): Promise<Buffer> {
  const { start, bytes, sourceOffset, headerOffset } = extent;
  const header = own.subarray(headerOffset, headerOffset + oggHeaderBytes(own, headerOffset));
  reader.seek(sourceOffset);
  const page = checkedPage(header, await reader.read(bytes - header.length));
  return page.subarray(first - start, end - start);
}
