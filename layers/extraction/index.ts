export * from './create-extraction.ts';
export type * from './extraction.ts';
export * from './information.ts';
export { isRounded } from './manifests.ts';
export * from './mp3-conversion.ts';
export type { EntryRequest, ResolveEntry } from './playlists.ts';
export { cookieHeader, requestHeaders } from './request-headers.ts';
