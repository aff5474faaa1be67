declare module 'dynalite' {
  import type { Server } from 'node:http';

  /** Dynalite's server; without a path it stores in memory. Closing it closes the store too. */
  export default function dynalite(options: { path?: string; createTableMs?: number }): Server;
}
