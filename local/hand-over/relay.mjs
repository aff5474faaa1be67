// Relays calls of services that have handed over to the service in charge. Plain JavaScript for any Node.

/** @typedef {import('node:child_process').ChildProcess} ChildProcess */

/**
 * @param {() => ChildProcess | undefined} current the service in charge
 */
export function createRelay(current) {
  /** Calls that wait for a reply, by their id there: who has called, with which id, and who replies. */
  const calls = new Map();
  /** Calls of a service that is handing over, until another one is in charge. */
  const held = new Set();

  /** Without a payload: there is no reply. */
  const reply = ({ caller, id }, payload) => send(caller, { reelay: 'reply', id, payload });

  const call = (caller, message) => {
    const { id, payload } = message;
    const target = current();
    if (target === caller) return void held.add({ caller, message });
    if (!target) return reply({ caller, id });
    const key = `${caller.pid}:${id}`;
    calls.set(key, { caller, id, target });
    send(target, { reelay: 'call', id: key, payload });
  };

  return {
    call,
    /** To be called when another service is in charge, or none. */
    release() {
      const released = [...held];
      held.clear();
      for (const { caller, message } of released) call(caller, message);
    },
    reply({ id, payload }) {
      const call = calls.get(id);
      calls.delete(id);
      if (call) reply(call, payload);
    },
    /** To be called when a service has ended. */
    forget(service) {
      for (const each of held) if (each.caller === service) held.delete(each);
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
