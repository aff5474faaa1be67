/** The environment, read once and validated. Every other room gets values as arguments. */
export interface Settings {
  /** Address to listen on. @default '127.0.0.1' … see README */
  readonly host: string;
  readonly port: number;
  readonly environment: 'Production' | 'Development';
  /** Origins, or `*`. */
  readonly corsAllowedOrigins: readonly string[];
  readonly dataDir: string;
  readonly toolsDir: string;
  readonly toolsChannel: 'stable' | 'nightly';
  /** Hours between looks for newer tools; 0: never. */
  readonly toolsUpdateHours: number;
  readonly ytDlpPath?: string;
  readonly ffmpegPath?: string;
  /** `host:port` pairs that the egress guard admits though their addresses are private. */
  readonly egressAllow: readonly string[];
  readonly outgoingProxies: readonly string[];
  readonly cookiesFile?: string;
  readonly playlistLimit: number;
  readonly search: boolean;
  readonly maxFfmpeg: number;
  readonly maxStreams: number;
  readonly maxStreamsPerClient: number;
  /** Proxies in front of this service whose X-Forwarded-For is believed. */
  readonly trustedProxies: number;
}
