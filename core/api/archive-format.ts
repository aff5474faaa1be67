/** Formats of an archive; the first one is the default. */
export const ARCHIVE_FORMATS = ['zip', 'tar'] as const;
export type ArchiveFormat = (typeof ARCHIVE_FORMATS)[number];

/** The format by its name in lower case. */
export const findArchiveFormat = (text: string | undefined): ArchiveFormat | undefined =>
  ARCHIVE_FORMATS.find((format) => format === text);
