export { answerCalls, createRemoteStorage } from './remote-storage.ts';
export { connectSupervisor, type SupervisorChannel, type TakenSocket } from './supervisor-channel.ts';
export { createSwitchableStorage, type SwitchableStorage } from './switchable-storage.ts';
