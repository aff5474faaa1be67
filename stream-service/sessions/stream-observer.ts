/** Receives stream events, for metrics and idle detection. Calls must be fast and must not throw. */
export interface StreamObserver {
  /**
   * A stream is about to be sent: its status is 200 or 206 and its first bytes are available.
   * @param bytesSent so far, headers included
   * @returns called once when the stream has ended, however it ended
   */
  onStreamStart(bytesSent: () => number): () => void;
  onFfmpegFailure(): void;
}

/** Ignores every event. */
export const noopObserver: StreamObserver = {
  onStreamStart: () => () => undefined,
  onFfmpegFailure: () => undefined,
};
