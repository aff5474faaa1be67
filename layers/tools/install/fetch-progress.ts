import type { Activity } from '../tools.ts';

const REPORT_INTERVAL_BYTES = 2 ** 20;

/** Reports the bytes of a download as an activity: every MiB, and at the end. */
export function createFetchProgress(
  name: string,
  onActivity: (activity: Activity) => void,
): (bytes: number, totalBytes?: number) => void {
  let reportedBytes = 0;
  return (bytes, totalBytes) => {
    if (bytes - reportedBytes < REPORT_INTERVAL_BYTES && bytes !== totalBytes) return;
    reportedBytes = bytes;
    onActivity({ name, bytes, ...(totalBytes !== undefined && { totalBytes }) });
  };
}
