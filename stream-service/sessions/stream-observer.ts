/** Who is told what the streams do. No call may throw or take time. */
export interface StreamObserver {
  /**
   * A stream is about to be sent: its status is good and its first bytes are in hand.
   * @param bytesSent so far, headers included
   * @returns what is called once when it is over, however it ended
   */
  onStreamStart(bytesSent: () => number): () => void;
  onFfmpegFailure(): void;
}

/** For a host that does not count. */
export const noopObserver: StreamObserver = {
  onStreamStart: () => () => undefined,
  onFfmpegFailure: () => undefined,
};
