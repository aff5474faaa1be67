export { createDeferredDownload } from './deferred-download.ts';
export { createDownload, type Download } from './download.ts';
export { type DownloadFailureKind, type DownloadState, hasEnded, progressOf } from './download-state.ts';
export { createQueue } from './queue.ts';
export { chooseFolder, type OpenSink, openSink } from './sinks.ts';
export { sweepStorage } from './storage-sink.ts';
