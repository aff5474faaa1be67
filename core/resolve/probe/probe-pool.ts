import { createFairSemaphore } from '../../concurrency/index.ts';
import type { ContainerRequest, ContainerResponse } from './container-reader.ts';
import { createProbeProcess, type ProbeProcess } from './probe-process.ts';

/** Processes that read containers, shared fairly between clients. */
export interface ProbePool {
  /**
   * Waits for a process, round-robin by client.
   * @returns as `ProbeProcess.read`; an empty response when the signal is aborted already
   * @throws the signal's reason when it is aborted in the queue: nothing is known about the file then
   */
  read(request: ContainerRequest, client: string, signal: AbortSignal): Promise<ContainerResponse>;
  close(): Promise<void>;
}

/**
 * One client uses one process at most: a hundred hostile files of one client, each of which takes its process for the full
 * time limit, delay a file of another client by none of them. The second process runs only while two clients probe.
 */
const PROCESSES = 2;

export function createProbePool(createProcess: () => ProbeProcess = createProbeProcess): ProbePool {
  const processes = Array.from({ length: PROCESSES }, () => createProcess());
  const free = [...processes];
  const permits = createFairSemaphore({ permits: PROCESSES, maxPerTenant: 1 });

  return {
    async read(request, client, signal) {
      if (signal.aborted) return {};
      const permit = await permits.acquire(client, signal);
      const process = free.shift();
      try {
        return (await process?.read(request)) ?? {};
      } finally {
        // To the front: the one that runs is used again before the other one starts.
        if (process) free.unshift(process);
        permit.release();
      }
    },
    async close() {
      await Promise.all(processes.map((process) => process.close()));
    },
  };
}
