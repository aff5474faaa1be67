declare module 'dynalite' {
  import type { Server } from 'node:http';

  /** The server of dynalite; in memory without a path. Closing it closes the store too. */
  export default function dynalite(options: { path?: string; createTableMs?: number }): Server;
}
