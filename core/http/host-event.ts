/** What invokes the function of the on-demand stream host, besides streams that no task serves. */
export type HostEvent =
  /** Sent by functions that expect a stream soon: keys have just been issued. */
  | { readonly kind: 'ahead' }
  | {
      /** Sent by a task that accepts requests, and repeated while it does. */
      readonly kind: 'serving';
      /** MAC address of the network interface with the public name of the task. */
      readonly macAddress: string;
      /** Signs the requests that the edge sends to it. */
      readonly secret: string;
      /** Version (ETag) of the key-value store after this task's last write. Absent: it registers for the first time. */
      readonly version?: string | undefined;
    }
  | {
      /** Sent by a task that accepts no further streams. */
      readonly kind: 'leaving';
      readonly secret: string;
      readonly version?: string | undefined;
      /** Whether no task is needed. */
      readonly isIdle: boolean;
    };

/** What the function answers to a task. */
export interface HostAnswer {
  readonly host: 'registered' | 'replaced' | 'left';
  /** Version (ETag) of the key-value store, for the next event. */
  readonly version?: string;
}
