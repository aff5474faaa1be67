// Relays calls of services that have handed over to the service in charge. Plain JavaScript for any Node.

/** @typedef {import('node:child_process').ChildProcess} ChildProcess */

/**
 * @param {() => ChildProcess | undefined} current the service in charge
 */
export function createRelay(current) {
  /** Calls that wait for a reply, by their id there: who has called, with which id, and who replies. */
  const calls = new Map();

  /** Without a payload: there is no reply. */
  const reply = ({ caller, id }, payload) => send(caller, { reelay: 'reply', id, payload });

  return {
    call(caller, { id, payload }) {
      const target = current();
      const call = { caller, id, target };
      if (!target || target === caller) return reply(call);
      const key = `${caller.pid}:${id}`;
      calls.set(key, call);
      send(target, { reelay: 'call', id: key, payload });
    },
    reply({ id, payload }) {
      const call = calls.get(id);
      calls.delete(id);
      if (call) reply(call, payload);
    },
    /** To be called when a service has ended. */
    forget(service) {
      for (const [key, call] of calls) {
        if (call.target !== service && call.caller !== service) continue;
        calls.delete(key);
        if (call.target === service) reply(call);
      }
    },
  };
}

/** Sends a message to a child process, if it still runs. */
export function send(child, message, socket) {
  if (child.connected) child.send(message, socket, {}, () => undefined);
}
