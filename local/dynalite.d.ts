declare module 'dynalite' {
  import type { Server } from 'node:http';

  /** Dynalite's server; closing it closes the store too. */
  export default function dynalite(options: { path?: string; createTableMs?: number }): Server;
}
