import { createHash } from 'node:crypto';
import type { Representation } from '../representation.ts';
import type { FileSource } from '../source/index.ts';

export interface FileTraits {
  readonly key: string;
  readonly mimeType: string;
  readonly fileExtension: string;
}

/** A direct file, sent as it is. */
export function fileRepresentation(source: FileSource, { key, mimeType, fileExtension }: FileTraits): Representation {
  const { size, validator } = source;
  return {
    size,
    mimeType,
    fileExtension,
    etag: size === undefined ? undefined : etagOf(key, size, validator),
    read: (first, last) => source.read(first, last),
  };
}

/** Another size or another validator of the source is another entity. */
const etagOf = (...parts: readonly unknown[]): string =>
  `"${createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 22)}"`;
