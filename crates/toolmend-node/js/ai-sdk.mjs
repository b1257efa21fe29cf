import hooks from './ai-sdk.cjs';

export const { mendingMiddleware, prepareStep, repairToolCall, toolMiddleware } = hooks;
