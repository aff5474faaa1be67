export { createJournal } from '../../download/index.ts';
export { createDownloads } from './create-downloads.ts';
