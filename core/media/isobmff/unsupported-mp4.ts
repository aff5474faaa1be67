import { type Box, findChild } from './box-parser.ts';

/** A file outside of what the native muxer supports; FFmpeg may still read it. */
export class UnsupportedMp4 extends Error {
  override readonly name = 'UnsupportedMp4';
}

/**
 * A mandatory child.
 * @param minBytes of its content
 * @throws UnsupportedMp4 when it is absent or shorter
 */
export function requireChild(bytes: Buffer, parent: Box, type: string, minBytes = 0): Box {
  const child = findChild(bytes, parent, type);
  if (!child || child.end - child.content < minBytes) throw new UnsupportedMp4(`Missing or truncated ${type}`);
  return child;
}
