//! Python bindings of Sojourn: conversion only.
