import hook from './ai-sdk.cjs';

export const { repairToolCall } = hook;
