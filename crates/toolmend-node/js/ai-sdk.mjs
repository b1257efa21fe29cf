import hook from './ai-sdk.cjs';

export const { prepareStep, repairToolCall } = hook;
