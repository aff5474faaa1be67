export { createDeferredDownload } from './deferred-download.ts';
export { createDownload, type Download, newId } from './download.ts';
export { type DownloadFailureKind, type DownloadState, hasEnded, progressOf } from './download-state.ts';
export { createJournal, type DownloadRecord, type EntryFormat, JOURNAL_NAME, type Journal } from './journal.ts';
export { createQueue } from './queue.ts';
export { chooseFolder, hasFilePicker, type OpenSink, openSink, openWithoutPicker } from './sinks.ts';
export { sweepStorage } from './storage-sink.ts';
